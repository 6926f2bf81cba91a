package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	// Children are to die with the thread that started them; the main thread lives as long as the process.
	runtime.LockOSThread()
	o, err := parseOptions(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C doesn't wait for the clean-up
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the selected rows and prints the report. If rows fail, run returns an error, and the document
// keeps its last complete section.
func run(ctx context.Context, o options, out io.Writer) error {
	r := report{command: o.command(), facts: []string{machine()}}
	if err := measureRows(ctx, o, &r, out); err != nil {
		return err
	}
	if err := measureMicro(ctx, o, &r, out); err != nil {
		return err
	}
	if err := measureIDs(ctx, o, &r, out); err != nil {
		return err
	}
	parts := r.apart()
	for _, s := range sections {
		if part := parts[s]; !part.empty() {
			fmt.Fprint(out, "\n", part.markdown())
		}
	}
	if n := len(r.failures); n > 0 {
		return fmt.Errorf("%d rows failed: see above; nothing is published", n)
	}
	if o.samples != "" {
		if err := r.samples(o.samples); err != nil {
			return err
		}
	}
	if o.output == "" {
		return nil
	}
	for _, s := range sections {
		part := parts[s]
		if part.empty() {
			continue
		}
		if err := publish(o.output, s, part.markdown()); err != nil {
			return err
		}
	}
	return nil
}

// measureRows sets up a stand and measures the rows on it. A row that fails is reported and the next one is tried;
// only what makes every row impossible is an error.
func measureRows(ctx context.Context, o options, r *report, out io.Writer) error {
	todo := o.selected(allRows(o))
	if len(todo) == 0 {
		return nil
	}
	s, err := newStand(ctx, o, out)
	if err != nil {
		return err
	}
	defer s.Close()
	r.facts = append(r.facts, s.facts...)
	for i, w := range todo {
		fmt.Fprintf(out, "[%d/%d] %s\n", i+1, len(todo), w.name)
		err := w.measure(ctx, s, r)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.fail(w.name, err)
			fmt.Fprintf(out, "  FAILED: %v\n", err)
			continue
		}
		r.showNew(out)
	}
	r.figures = append(r.figures, r.lentFigure()...)
	r.showNew(out)
	return nil
}
