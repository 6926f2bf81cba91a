// Package goqu runs the tests of github.com/doug-martin/goqu/v9, goqu.
//
// What they depend on takes long to build: the build tag long has them.
package goqu
