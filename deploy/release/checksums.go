package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
)

// writeChecksums writes the SHA-256 of each file, as sha256sum --check reads them.
func (r *release) writeChecksums(context.Context) error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, file := range files {
		content, err := os.ReadFile(r.path(file.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), file.Name())
	}
	return os.WriteFile(r.path("SHA256SUMS"), sums.Bytes(), 0o644)
}
