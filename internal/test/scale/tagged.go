//go:build long

package scale

const tagged = "long"
