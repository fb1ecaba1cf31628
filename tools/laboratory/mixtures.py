"""The laboratory's captures, put together anew as people put their files together.

What is known of a process stays the same, or becomes less; only names, files and forms change. So
a finding of a mixture can be compared with the truth, and with what the capture itself gives.

python -m tools.laboratory.mixtures                 a sample of captures in each form
python -m tools.laboratory.mixtures --form loops    in this form alone
python -m tools.laboratory.mixtures --every 1       every capture, not every eighth
python -m tools.laboratory.mixtures --only hubd     captures whose name begins with this
python -m tools.laboratory.mixtures --keep FOLDER   keep what was written there
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gomem
from gomem.diagnosis.healthy import can_be_healthy
from gomem.views.json.report import report_json
from tools.laboratory.captures import Answer, names_of, path_of, truth
from tools.laboratory.forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Asked:
    """What gomem says of a capture in one form.

    Attributes:
        form: The form.
        answer: The answer; None if the form has nothing of this capture.
        tells_healthy: Whether the verdict is "healthy".
        whole: The first finding of the capture as it was recorded.
    """

    form: str
    answer: Answer
    tells_healthy: bool
    whole: Answer

    @property
    def kind(self) -> str:
        """How the answer compares with the truth, in one word."""
        if self.answer.healthy:
            loudest = {row["confidence"] for row in self.answer.warnings}
            return f"warned, {min(loudest)}" if loudest else "quiet"
        if self.answer.right:
            return "right"
        if self.tells_healthy:
            return "healthy, wrongly"
        return "another" if self.answer.warnings else "no warning"


def main() -> None:
    """Print how often each form of the captures is told rightly."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--form", choices=sorted(FORMS), action="append")
    parser.add_argument("--every", type=int, default=8, metavar="N")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    names = [
        name
        for name in names_of()
        if name.startswith(options.only) and _number(name) % options.every == 0
    ]
    with ProcessPoolExecutor(2) as pool:
        asked = partial(ask, forms=options.form or sorted(FORMS), keep=options.keep)
        told = [one for some in pool.map(asked, names) for one in some]
    for form in sorted({one.form for one in told}):
        _print([one for one in told if one.form == form])


def _number(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)


def ask(name: str, forms: Sequence[str], keep: Path | None = None) -> list[Asked]:
    """Ask gomem about a capture in each form that it can have."""
    capture = gomem.load(path_of(name))
    if truth()[name]["baseline"] or len(capture) < 2:
        return []
    whole = _answer(name, path_of(name))[0]
    told = []
    for form in forms:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / name
            place.mkdir()
            if not FORMS[form](capture, place) or not any(place.iterdir()):
                continue
            if keep:
                shutil.copytree(place, keep / form / name, dirs_exist_ok=True)
            answer, tells_healthy = _answer(name, place)
        told.append(Asked(form, answer, tells_healthy, whole))
    return told


def _answer(name: str, path: Path) -> tuple[Answer, bool]:
    diagnosis = gomem.diagnose(path)
    report = report_json(diagnosis)
    verdict: dict[str, Any] = report.get("verdict") or {}
    answer = Answer(name, report["findings"], verdict.get("sentence", ""))
    return answer, verdict.get("severity") is None and can_be_healthy(diagnosis)


def _print(told: Sequence[Asked]) -> None:
    ill = [one for one in told if not one.answer.healthy]
    well = [one for one in told if one.answer.healthy]
    print(f"\n{told[0].form}: {len(told)} captures")
    for title, some in (("ill", ill), ("healthy", well)):
        counts = Counter(one.kind for one in some)
        print(f"  {title:<8}", ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    for one in told:
        if one.kind in {"right", "quiet"}:
            continue
        print(f"  {one.answer.name:<26} {one.kind}; {one.whole.first} as recorded")
        print(f"      {one.answer.sentence[:230]}")


if __name__ == "__main__":
    main()
