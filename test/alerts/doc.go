// Package alerts has each of the alerts that ship fire for its fault, and for no other
// one's, by promtool's clock.
//
// It owns the faults, as series. What the alerts say is looked at by package docs.
package alerts
