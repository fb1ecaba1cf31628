"""What the search of a built manual finds, best first: as its `searchtools.js` does it.

Mirrored are the headings that hold the query, and words in titles and in texts, with Sphinx's
weights and the boost of `docs/_static/scorer.js`. Index entries and objects, of which the manual
has none, are left out, and so is the alphabet's part: equal scores are told apart by titles.
"""

import json
import re
from pathlib import Path

from snowballstemmer import stemmer

TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM = 15, 7, 5, 2
BOOST = re.compile(r'=== "title" \? result\[4\] \+ (\d+)')
STOPWORDS = re.compile(r"stopwords = (?:new Set\()?(\[.*?\])", re.DOTALL)


def found(built: Path, query: str) -> list[str]:
    """Pages with anchors, the best first."""
    index = json.loads(
        (built / "searchindex.js").read_text(encoding="utf-8")[len("Search.setIndex(") : -1]
    )
    told = (built / "_static" / "language_data.js").read_text(encoding="utf-8")
    boost = int(BOOST.search(told)[1])
    stopwords = set(json.loads(STOPWORDS.search(told)[1]))
    results = [(score + boost, *rest) for score, *rest in _by_heading(index, query)]
    results += _by_words(index, query, stopwords)
    return [page for _, _, page in sorted(results, key=lambda result: (-result[0], result[1]))]


def _by_heading(index, query):
    wanted = query.lower().strip()
    for title, places in index["alltitles"].items():
        if wanted in title.lower() and len(wanted) >= len(title) / 2:
            for file, anchor in places:
                whole = index["titles"][file]
                score = round(TITLE * len(wanted) / len(title)) + (whole == title)
                shown = title if whole == title else f"{whole} > {title}"
                yield (
                    score,
                    shown.lower(),
                    index["docnames"][file] + (f"#{anchor}" if anchor else ""),
                )


def _by_words(index, query, stopwords):
    words = {
        stemmer("english").stemWord(word.lower())
        for word in re.findall(r"\w+", query)
        if not word.isdigit() and word.lower() not in stopwords
    }
    scores = {}
    for word in words:
        for name, whole, partial in (
            ("terms", TERM, PARTIAL_TERM),
            ("titleterms", TITLE, PARTIAL_TITLE),
        ):
            for term, files in index[name].items():
                score = whole if term == word else partial if len(word) > 2 and word in term else 0
                if score and (term == word or word not in index[name]):
                    for file in [files] if isinstance(files, int) else files:
                        scores.setdefault(file, {})[word] = score
    for file, told in scores.items():
        if len(told) in {len(words), sum(len(word) > 2 for word in words)}:
            yield max(told.values()), index["titles"][file].lower(), index["docnames"][file]
