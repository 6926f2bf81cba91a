// Package gormv1 runs the tests of github.com/jinzhu/gorm, the first version of GORM:
// the second one's are a module that is not published.
//
// What they depend on takes long to build: the build tag long has them.
package gormv1
