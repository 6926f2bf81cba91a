// Package migrate runs moves: it does what their state machine asks for, and
// tells it of the outcome.
//
// It owns the running of jobs: who runs one, its streams, its steps, what is tried
// again and what makes a job fail. It never decides what comes next (package phase
// does), in which order genes change hands (package cutover), or what a row is
// (the packages below). It never talks to a proxy: it edits the route map, and
// each proxy obeys it and says which version it obeys.
//
// Any process may take a job up where another one left it. What two of them did at
// once would be refused: the record and the map change by compare-and-swap, both
// together, and rows are written by whoever took the job over last.
package migrate
