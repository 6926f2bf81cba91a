package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// writeBill writes an architecture's bill of materials: the modules that Go's linker recorded in its binary.
func (r *release) writeBill(arch string) error {
	binary, err := os.ReadFile(r.binary(arch))
	if err != nil {
		return err
	}
	built, err := buildinfo.ReadFile(r.binary(arch))
	if err != nil {
		return err
	}
	f, err := os.Create(r.path("locus-" + r.version + "-linux-" + arch + ".cdx.json"))
	if err != nil {
		return err
	}
	defer f.Close()
	bill := r.billOf(arch, built, sha256.Sum256(binary))
	if err := cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill, cyclonedx.SpecVersion1_6); err != nil {
		return err
	}
	return f.Close()
}

func (r *release) billOf(arch string, built *debug.BuildInfo, sum [sha256.Size]byte) *cyclonedx.BOM {
	product := cyclonedx.Component{
		BOMRef: "locus", Type: cyclonedx.ComponentTypeApplication, Name: "locus", Version: r.version,
		Description: summary, Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: license}}},
		Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: &[]cyclonedx.Property{
			{Name: "locus:architecture", Value: "linux/" + arch}, {Name: "locus:revision", Value: r.commit}, {Name: "locus:go", Value: built.GoVersion},
		},
	}
	components := []cyclonedx.Component{standardLibrary(built.GoVersion)}
	for _, m := range built.Deps {
		components = append(components, componentOf(m))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bill := cyclonedx.NewBOM()
	// The number is derived from the binary: two builds of one commit have one number.
	bill.SerialNumber = uuid.NewHash(sha256.New(), uuid.NameSpaceOID, sum[:], 8).URN()
	bill.Metadata = &cyclonedx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &product}
	bill.Components = &components
	bill.Dependencies = &[]cyclonedx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}
	return bill
}

func standardLibrary(version string) cyclonedx.Component {
	number := strings.TrimPrefix(version, "go")
	url := "pkg:golang/std@" + number
	return cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: number, PackageURL: url}
}

func componentOf(m *debug.Module) cyclonedx.Component {
	if m.Replace != nil {
		m = m.Replace
	}
	url := "pkg:golang/" + strings.ToLower(path.Dir(m.Path)) + "/" + strings.ToLower(path.Base(m.Path)) + "@" + m.Version
	c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url}
	// go.sum has a SHA-256 of the module's files and their names.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == sha256.Size {
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}
	}
	return c
}
