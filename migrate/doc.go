// Package migrate runs jobs: it executes the actions that the state machine of a job requests, and reports
// their results to it.
//
// It owns the running of jobs: which process runs a job, its streams, its steps, the retries, and the errors
// that make a job fail. It never decides the next action (package phase does), the order of effects in a step
// (package cutover does), or what a row contains (the packages below do). It never talks to a proxy: it edits
// the route map, and each proxy publishes which version it obeys.
//
// Any process may continue a job that another process has left. Two processes can't interfere: the record and
// the map change together, by compare-and-swap, and only the process that took the job over last can write
// rows.
package migrate
