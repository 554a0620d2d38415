// What the search shows first: a function whose name was asked for, before pages that mention it.
var Scorer = {
  objNameMatch: 100,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
