// Package gomodule runs the tests of Go modules as suites of a stand.
//
// It owns the download of a module, and the copy to a directory where its tests may write. It never changes a module, and no
// such module becomes a dependency of this one.
package gomodule
