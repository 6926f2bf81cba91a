// Package mysql2 runs cases against mysql2, the driver of Node.js, by callbacks
// and by promises. Its own tests are not published with it; the cases here are
// this repository's.
package mysql2
