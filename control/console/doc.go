// Package console serves a process's HTTP interface: health, metrics, profiles, the cluster's state as JSON, and the
// page that displays it, with its logins.
//
// It owns the handlers, the sessions of logged-in users, the data kept for the page between two requests, and the names
// of the metrics. It never changes anything by itself: package ops checks and carries out the requests of admins.
package console
