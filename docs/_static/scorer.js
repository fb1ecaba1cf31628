// Sphinx's own weights. What people type is a heading word for word, or nearly: it comes first.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: (result) => (result[6] === "title" ? result[4] + 100 : result[4]),
};
