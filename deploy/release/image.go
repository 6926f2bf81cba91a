package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// writeImage writes the context of the image: what the image contains, and how it is put together. Building it downloads nothing.
func (r *release) writeImage(context.Context) error {
	dockerfile, err := os.ReadFile(r.source("deploy/docker/release.Dockerfile"))
	if err != nil {
		return err
	}
	const variable = "ARG VERSION=\n"
	if !bytes.Contains(dockerfile, []byte(variable)) {
		return fmt.Errorf("deploy/docker/release.Dockerfile has no line %q", variable)
	}
	base := "locus-" + r.version + "-image/"
	entries := []entry{
		{name: base + "Dockerfile", text: bytes.Replace(dockerfile, []byte(variable), []byte("ARG VERSION="+r.version+"\n"), 1), mode: 0o644},
		{name: base + "ca-certificates.crt", text: authorities(), mode: 0o644},
		{name: base + "licenses/LICENSE", source: r.source("LICENSE"), mode: 0o644},
		{name: base + "licenses/" + notices, source: r.made(notices), mode: 0o644},
		{name: base + "state/", mode: 0o700},
	}
	for _, arch := range r.targets {
		entries = append(entries, entry{name: base + "linux/" + arch + "/locus", source: r.binary(arch), mode: 0o755})
	}
	return writeTar(r.path("locus-"+r.version+"-image.tar.gz"), r.date, entries)
}

// authorities returns the certificates of public authorities. Those that are trusted under conditions only are left out, because a file of
// certificates cannot contain the conditions.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}
