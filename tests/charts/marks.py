"""What was drawn on a panel: its marks by kind, in order."""

from gomem.charts.chart import Area, Bar, Line, Words


def bars(panel):
    return [one for one in panel.marks if isinstance(one, Bar)]


def areas(panel):
    return [one for one in panel.marks if isinstance(one, Area)]


def lines(panel):
    return [one for one in panel.marks if isinstance(one, Line)]


def words(panel):
    return [one.text for one in panel.marks if isinstance(one, Words)]
