package segment

import (
	"context"
	"fmt"
)

// grouping is the mapping of genes to counters at a time.
type grouping struct{ groups, generation int }

// grouping reads the cluster's current grouping. If no process has stored it, grouping stores the given number.
func (s *CASStore) grouping(ctx context.Context, groups int) (grouping, error) {
	pin, _, err := s.pin(ctx)
	if err != nil {
		return grouping{}, err
	}
	if pin.Groups != 0 {
		return grouping{pin.Groups, pin.Generation}, nil
	}
	if err := s.PinGroups(ctx, groups); err != nil {
		return grouping{}, err
	}
	return grouping{groups: groups}, nil
}

func (s *CASStore) pin(ctx context.Context) (groupsRecord, int64, error) {
	key := s.prefix + "groups"
	value, revision, err := s.kv.Get(ctx, key)
	if err != nil {
		return groupsRecord{}, 0, fmt.Errorf("read %s: %w", key, err)
	}
	if revision == 0 {
		return groupsRecord{}, 0, nil
	}
	var pin groupsRecord
	if err := decode(value, &pin); err != nil {
		return groupsRecord{}, 0, fmt.Errorf("%s: %w", key, err)
	}
	if pin.Groups < 1 || pin.Groups > maxGroups || pin.Next < 0 || pin.Next > maxGroups {
		return groupsRecord{}, 0, fmt.Errorf("%s: %d groups: there are 1 to %d", key, max(pin.Groups, pin.Next), maxGroups)
	}
	return pin, revision, nil
}

// Groups returns the cluster's number of counter groups, or 0 if no numbers were taken yet.
func (s *CASStore) Groups(ctx context.Context) (int, error) {
	pin, _, err := s.pin(ctx)
	return pin.Groups, err
}

// Regroup changes the number of counter groups while processes take numbers.
//
// First it closes the old counters. From then on none of their numbers are granted, and all granted ones are below
// their bounds. Each new counter begins above the bounds of all old ones whose genes it gets. Then the new grouping
// comes into force. Processes use up their segments, wait while no counter is open, and continue with the new counters;
// see Grouped.
//
// After an error the change remains incomplete. Another call of Regroup, with any number, continues it. Two concurrent
// calls do the same work.
func (s *CASStore) Regroup(ctx context.Context, groups int) error {
	if groups < 1 || groups > maxGroups {
		return fmt.Errorf("regroup: %d counter groups: a cluster has 1 to %d", groups, maxGroups)
	}
	for {
		pin, revision, err := s.pin(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("regroup to %d: %w", groups, err)
		case pin.Groups == 0:
			return s.PinGroups(ctx, groups)
		case pin.Next == 0 && pin.Groups == groups:
			return nil
		case pin.Next == 0:
			pin.Next = groups
			err = s.writePin(ctx, revision, pin)
		default:
			err = s.carryOver(ctx, pin, revision)
		}
		if err != nil {
			return fmt.Errorf("regroup to %d: %w: run it again; processes that need new numbers wait until it is through", groups, err)
		}
	}
}

// carryOver completes a change that was begun.
func (s *CASStore) carryOver(ctx context.Context, pin groupsRecord, revision int64) error {
	bounds := make([]uint64, pin.Groups)
	for g := range bounds {
		var err error
		if bounds[g], err = s.closeCounter(ctx, s.prefix+name(pin.Generation, g)); err != nil {
			return err
		}
	}
	for g := range pin.Next {
		if err := s.beginCounter(ctx, s.prefix+name(pin.Generation+1, g), highestBelow(bounds, g, pin.Next)); err != nil {
			return err
		}
	}
	return s.writePin(ctx, revision, groupsRecord{Groups: pin.Next, Generation: pin.Generation + 1})
}

// highestBelow returns the highest bound of the old groups that share a gene with group g of n. Group i of k has the
// genes from i/k to (i+1)/k of all.
func highestBelow(bounds []uint64, g, n int) uint64 {
	k := len(bounds)
	var highest uint64
	for i := g * k / n; i < k && i*n < (g+1)*k; i++ {
		highest = max(highest, bounds[i])
	}
	return highest
}

// closeCounter closes a counter for ever and returns its last bound.
func (s *CASStore) closeCounter(ctx context.Context, key string) (uint64, error) {
	for {
		bound, revision, moved, err := s.bound(ctx, key)
		if err != nil || moved {
			return bound, err
		}
		ok, err := s.kv.CompareAndSwap(ctx, key, revision, encode(record{Bound: bound, By: s.who, At: s.now().UTC(), Moved: true}))
		if err != nil {
			return 0, fmt.Errorf("close counter %s: %w", key, err)
		}
		if ok {
			return bound, nil
		}
	}
}

// beginCounter creates a counter whose numbers begin above the bound. An existing one was created by an earlier attempt
// from the same bounds.
func (s *CASStore) beginCounter(ctx context.Context, key string, above uint64) error {
	if above == 0 {
		return nil // a missing counter begins at 1
	}
	if _, err := s.kv.CompareAndSwap(ctx, key, 0, encode(record{Bound: above, By: s.who, At: s.now().UTC()})); err != nil {
		return fmt.Errorf("begin counter %s: %w", key, err)
	}
	return nil
}

func (s *CASStore) writePin(ctx context.Context, revision int64, pin groupsRecord) error {
	pin.By, pin.At = s.who, s.now().UTC()
	if _, err := s.kv.CompareAndSwap(ctx, s.prefix+"groups", revision, encode(pin)); err != nil {
		return fmt.Errorf("write %sgroups: %w", s.prefix, err)
	}
	return nil // if not ok, another process was faster, and the caller reads again
}
