// Package xorm runs the tests of xorm.io/xorm, XORM: those of the last version
// whose tests depend on published modules alone.
//
// What they depend on takes long to build: the build tag long has them.
package xorm
