// Package sqlx runs the tests of github.com/jmoiron/sqlx, sqlx.
//
// What they depend on takes long to build: the build tag long has them.
package sqlx
