// Package console is what a process shows over HTTP: health, metrics, profiles,
// and the dashboard with its logins.
//
// It owns the handlers, the sessions of who has logged in, and the names of the
// metrics. It never changes anything by itself: what an admin orders goes into a
// job's record like an order of the command line.
package console
