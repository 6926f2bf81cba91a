package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// templateEdition is part of a template's name. Increase it when fresh data directories change, so that older
// templates are no longer used.
const templateEdition = 1

// templatePatience bounds the wait for another process that is making the same template.
const templatePatience = 3 * time.Minute

// ensureTemplate returns the path of a freshly initialised data directory of this version, and creates it if it
// is missing. One process creates it while others wait. It appears as a whole.
func (i *Installation) ensureTemplate(ctx context.Context, templates string) (string, error) {
	template := filepath.Join(templates, fmt.Sprintf("%s-%s-%d", i.Engine, i.Version, templateEdition))
	if _, err := os.Stat(template); err == nil {
		return template, nil
	}
	if err := i.makeTemplate(ctx, template); err != nil {
		return "", fmt.Errorf("template %s: %w", template, err)
	}
	return template, nil
}

func (i *Installation) makeTemplate(ctx context.Context, template string) (err error) {
	if err := os.MkdirAll(filepath.Dir(template), 0o700); err != nil {
		return err
	}
	lock, err := lockFile(ctx, template+".lock", templatePatience)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := os.Stat(template); err == nil {
		return nil // another process made it while this one waited
	}
	workshop := template + ".new"
	if err := os.RemoveAll(workshop); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workshop)) }()
	d, err := openDirectory(ctx, workshop)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	data := d.file("data")
	if err := i.initialise(ctx, d, data); err != nil {
		return err
	}
	return os.Rename(data, template)
}
