// Package steps contains what protocols between processes have in common: each announces a change, waits until every live process obeys
// it, and then acts.
//
// It owns the wait, its rule for processes that are dead, and the text that names the missing processes. It never reads or writes a
// document: its callers do.
package steps
