package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// templateEdition is part of a template's name; raise it when a fresh data
// directory changes, so that older templates are no longer taken.
const templateEdition = 1

// templatePatience is how long Start waits for another process that is making
// the same template.
const templatePatience = 3 * time.Minute

// ensureTemplate is the path of a freshly initialised data directory of this
// version, made if it is missing. One process makes it while others wait; it
// appears whole.
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
		return nil // made by another process while this one waited
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
