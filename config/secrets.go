package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// SecretEnvironment begins the names of environment variables that hold secrets.
const SecretEnvironment = "LOCUS_SECRET_"

// Secrets finds secrets by the names that the cluster's documents use for them,
// so that etcd never holds one. It keeps nothing: every look-up reads again, and
// a changed file counts from the next look-up on.
type Secrets struct {
	Dir string `yaml:"dir"` // one file per name; empty: the environment alone
}

var secretName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)

// Lookup is the secret called name: the content of the file <dir>/<name> less
// one final newline, or else the environment's LOCUS_SECRET_<NAME>, in capitals
// and with '_' for everything that isn't a letter or a digit. A file that is
// there and can't be read, or is empty, is an error and not a reason to look
// further. No error carries a secret.
func (s Secrets) Lookup(name string) (string, error) {
	if !secretName.MatchString(name) {
		return "", fmt.Errorf("secret %q: a name is letters, digits, '_', '-' and '.', in parts divided by '/'", name)
	}
	variable := SecretVariable(name)
	looked := "the environment's " + variable
	if s.Dir != "" {
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		secret, err := ReadSecret(path)
		if err == nil {
			return secret, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("secret %q: %w", name, err)
		}
		looked = "file " + path + " and " + looked
	}
	if secret := os.Getenv(variable); secret != "" {
		return secret, nil
	}
	return "", fmt.Errorf("secret %q: not found; looked for %s", name, looked)
}

// ReadSecret is the content of a file that holds one secret, less one final
// newline. An empty one is an error.
func ReadSecret(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if secret == "" {
		return "", fmt.Errorf("file %s is empty", path)
	}
	return secret, nil
}

// SecretVariable is the environment's variable that holds a secret which is in no file.
func SecretVariable(name string) string { return SecretEnvironment + environmentName(name) }

func environmentName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		default:
			return '_'
		}
	}, name)
}
