"""The laboratory's confusion matrix: true causes in rows, first findings in columns.

python -m tools.laboratory.matrix               every capture
python -m tools.laboratory.matrix --half        with half of each capture's files removed
python -m tools.laboratory.matrix --left-out    with scores fitted without each capture's program
python -m tools.laboratory.matrix --only hubd   captures whose name begins with this
python -m tools.laboratory.matrix --set 4       captures of the fourth set
python -m tools.laboratory.matrix --verdicts    each true cause, followed by the verdict
python -m tools.laboratory.matrix --json FILE   all answers as well, to compare with another run's
python -m tools.laboratory.matrix --write       the counts that the manual reads, as well
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tools.laboratory import fit
from tools.laboratory.captures import WITHIN, Answer, Size, ask, ask_half, names_of, sets, truth
from tools.laboratory.holders import holders
from tools.laboratory.measured import MEASURED, measured_json
from tools.laboratory.reliability import reliability

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gomem.causes.scores import Score


def main() -> None:
    """Diagnose every capture, and print how often gomem is right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", action="store_true", help="take half of each capture away")
    parser.add_argument(
        "--left-out", action="store_true", help="fit the scores without each capture's program"
    )
    parser.add_argument("--only", default="", help="captures whose name begins with this")
    parser.add_argument("--set", type=int, choices=sets(), help="the captures of this set alone")
    parser.add_argument("--verdicts", action="store_true", help="print what is said of each")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all answers to a file")
    parser.add_argument("--write", action="store_true", help=f"write {MEASURED.name} for the docs")
    options = parser.parse_args()
    if options.write and (options.half or options.only or options.set):
        parser.error("--write counts every capture, whole: leave out --half, --only and --set")
    names = [name for name in names_of(options.set) if name.startswith(options.only)]
    answers = _answers(names, half=options.half, is_left_out=options.left_out)
    if options.json:
        options.json.write_text(answers_json(answers))
    if options.write:
        MEASURED.write_text(measured_json(answers))
    if options.verdicts:
        _print_verdicts(answers)
        return
    _print_matrix(answers)
    _print_summary(answers)
    _print_sizes([size for answer in answers if not answer.healthy for size in answer.sizes])
    _print_reliability(answers)
    _print_wrong(answers)


def _answers(names: Sequence[str], *, half: bool, is_left_out: bool) -> list[Answer]:
    asked = ask_half if half else ask
    with ProcessPoolExecutor(2) as pool:
        if not is_left_out:
            return list(pool.map(asked, names))
        every = fit.cases_of_all(names_of())
        programs = sorted({truth()[name]["program"] for name in names})
        without = dict(
            zip(programs, pool.map(partial(fit.scores_without, every=every), programs), strict=True)
        )
        scores = [without[truth()[name]["program"]] for name in names]
        return list(pool.map(partial(_asked_by, asked), names, scores))


def _asked_by(asked: Callable[[str], Answer], name: str, scores: Mapping[str, Score]) -> Answer:
    with fit.using(scores):
        return asked(name)


def answers_json(answers: Sequence[Answer]) -> str:
    """Return gomem's answer on each capture as JSON, by name."""
    said = {
        answer.name: {"sentence": answer.sentence, "findings": answer.findings}
        for answer in answers
    }
    return json.dumps(said, indent=1, sort_keys=True) + "\n"


def _row(answer: Answer) -> str:
    codes = ["healthy"] if answer.healthy else answer.true_codes
    return " + ".join(codes)


def _print_matrix(answers: Sequence[Answer]) -> None:
    cells = Counter((_row(answer), answer.first) for answer in answers)
    columns = sorted({column for _, column in cells}, key=lambda name: (name == "none", name))
    rows = sorted(
        {row for row, _ in cells}, key=lambda name: ("+" in name, name == "healthy", name)
    )
    letters = [chr(ord("A") + i) if i < 26 else f"A{chr(ord('A') + i - 26)}" for i in range(99)]
    print("columns, the first warning, or (the first finding where none is a warning):")
    for letter, column in zip(letters, columns, strict=False):
        print(f"  {letter}  {column}")
    print(" " * 44 + "".join(f"{letter:>4}" for letter in letters[: len(columns)]))
    for row in rows:
        counts = [cells[row, column] for column in columns]
        print(f"{row:<44}" + "".join(f"{count or '·':>4}" for count in counts))
    print()


def _print_summary(answers: Sequence[Answer]) -> None:
    ill = [answer for answer in answers if not answer.healthy]
    well = [answer for answer in answers if answer.healthy]
    brief = sum(answer.right and answer.first.startswith("(") for answer in ill)
    held = [holder for answer in ill for holder in holders(answer)]
    warned = Counter(_loudest(answer) for answer in well)
    print(
        f"first finding right      {_of(sum(a.right for a in ill), ill)}, {brief} of them as info"
    )
    print(f"every cause found        {_of(sum(not a.missed for a in ill), ill)}")
    if len(shown := [answer for answer in ill if answer.is_shown]) < len(ill):
        print(f"of what the files can show, {len(shown)} of {len(ill)}:")
        print(f"  first finding right    {_of(sum(a.right for a in shown), shown)}")
        print(f"  every cause found      {_of(sum(not a.missed for a in shown), shown)}")
    print(f"healthy without warning  {_of(sum(a.right for a in well), well)}")
    print(f"  warned as possible     {_of(warned['possible'], well)}")
    print(f"  likely or certain      {_of(warned['likely'], well)}")
    print(
        f"confidently wrong        {_of(sum(bool(a.confidently_wrong) for a in answers), answers)}"
    )
    print(f"own function named       {_of(sum(holder.is_named for holder in held), held)}")


def _loudest(answer: Answer) -> str | None:
    """Return the highest confidence among warnings (`likely` also for `certain`); else None."""
    words = {warning["confidence"] for warning in answer.warnings}
    if not words:
        return None
    return "possible" if words == {"possible"} else "likely"


def _print_sizes(sizes: Sequence[Size]) -> None:
    near, bounded = (
        sum(size.near for size in sizes),
        sum(size.bounded for size in sizes if not size.near),
    )
    settled = sum(size.settled for size in sizes if not (size.near or size.bounded))
    unnamed = sum(size.off is None for size in sizes)
    print(
        f"size within {WITHIN:.0%}          {_of(near, sizes)}, {bounded} more told as the least "
        f"or the most that it is, rightly,\n{'':<25}{settled} more of a heap that by the runtime's "
        f"count grew to what is said, {unnamed} not named"
    )
    print()


def _print_reliability(answers: Sequence[Answer]) -> None:
    """Print how many findings of each confidence are true."""
    print("right, of so many findings")
    for row in reliability(answers):
        share = f" ({row.right / row.count:.0%})" if row.count else ""
        print(f"  {row.severity:<9} {row.confidence:<12} {row.right} of {row.count}{share}")
    print()


def _of(count: int, of: Sequence[object]) -> str:
    return f"{count} of {len(of)} ({count / len(of):.0%})" if of else "0 of 0"


def _told(size: Size) -> str:
    if size.off is None:
        return f"{size.code} names no {size.what}"
    within = ", told as a bound, rightly" if size.bounded else ""
    settled = ", but the heap grew to what is said" if size.settled else ""
    return f"{size.code} off by {size.off:.0%} ({size.what}){within}{settled}"


def _print_verdicts(answers: Sequence[Answer]) -> None:
    for answer in answers:
        told = truth()[answer.name]
        done = [told["text"], *(cause["text"] for cause in told["causes"])]
        print(f"{answer.name}  {_row(answer)}  go{told['go']}")
        print(f"  done      {' '.join(text for text in done if text)}")
        print(f"  verdict   {answer.sentence}")


def _print_wrong(answers: Sequence[Answer]) -> None:
    for answer in answers:
        far = [_told(size) for size in answer.sizes if not size.near]
        unnamed = [
            f"{holder.code}: {' or '.join(holder.own_functions)}"
            for holder in holders(answer)
            if not holder.is_named
        ]
        if answer.right and not (answer.missed or answer.confidently_wrong or far or unnamed):
            continue
        done = truth()[answer.name]
        print(f"{answer.name}  {'' if answer.right else 'WRONG  '}{_row(answer)}  go{done['go']}")
        print(f"  first     {answer.first}")
        for label, said in (
            ("missed", answer.missed),
            ("wrongly", answer.confidently_wrong),
            ("size", far),
            ("unnamed", unnamed),
        ):
            if said:
                print(f"  {label:<9} {', '.join(said)}")
        if not answer.right:
            print(f"  verdict   {answer.sentence}")


if __name__ == "__main__":
    main()
