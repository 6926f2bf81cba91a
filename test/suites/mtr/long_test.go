//go:build long

package mtr

const quick = false
