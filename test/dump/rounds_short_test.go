//go:build !long

package dump

const rounds = 20
