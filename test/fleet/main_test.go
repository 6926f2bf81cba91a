package fleet

import (
	"os"
	"testing"

	"locus/test/product"
)

// older and newer are two versions of the binary.
var older, newer string

func TestMain(m *testing.M) {
	os.Exit(product.Main(m, map[string]*string{"1.0.0": &older, "1.1.0": &newer}))
}
