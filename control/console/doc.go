// Package console is what a process shows over HTTP: health, metrics, profiles, the state
// of the cluster as JSON, and the page that is made of it, with its logins.
//
// It owns the handlers, the sessions of who has logged in, what is kept for the page
// between two looks, and the names of the metrics. It never changes anything by itself:
// what an admin orders goes the way of CALL locus.….
package console
