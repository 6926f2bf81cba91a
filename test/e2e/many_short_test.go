//go:build !long

package e2e

const manyClients = 2000
