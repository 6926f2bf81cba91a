//go:build !long && !servers

package scale

const tagged = "quick"
