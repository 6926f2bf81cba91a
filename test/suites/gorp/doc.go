// Package gorp runs the tests of github.com/go-gorp/gorp/v3, gorp.
//
// What they depend on takes long to build: the build tag long has them.
package gorp
