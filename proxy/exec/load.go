package exec

import (
	"locus/proxy/txn"
	"locus/router/plan"
)

// Stage reads the client's file into the temporary table, according to the session's settings. It returns the number of warnings.
func (h *Host) Stage(load *plan.Load) (uint16, error) {
	if err := h.Make(load.Temporary(), load.Make()...); err != nil {
		return 0, err
	}
	c := h.At.Conn
	if err := c.Carry(h.Context, h.under()); err != nil {
		return 0, err
	}
	if err := h.send(h.At, nil, nil); err != nil {
		return 0, err
	}
	switch err := h.Client.PassFile(c); {
	case txn.IsRefusal(err): // the server did not request the file
		return 0, err
	case err != nil:
		return 0, h.Unread(err)
	}
	ok, err := c.Outcome()
	if err != nil {
		return 0, err
	}
	if ok.Warnings > 0 {
		h.keepWarnings(h.At)
	}
	h.learn(h.At, h.Facts.Statement.Assigns)
	return ok.Warnings, nil
}
