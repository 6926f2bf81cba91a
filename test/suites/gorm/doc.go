// Package gorm runs scenarios of GORM, and the tests of its MySQL driver, in an
// undeclared database and with the sharded tables of the shop. GORM's own tests
// are a module that is not published.
//
// The scenarios are under testdata: they are put beside the driver, and run with
// what it depends on, so that nothing of it becomes a dependency here.
package gorm
