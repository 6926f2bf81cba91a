package segment

import (
	"context"
	"fmt"
)

// PinGroups fixes the cluster's number of counter groups. The first process writes it, and later ones with another
// number are refused. Call it before the first Take. With another number of groups genes would belong to other
// counters, and IDs could repeat.
func (s *CASStore) PinGroups(ctx context.Context, groups int) error {
	key := s.prefix + "groups"
	value, err := s.pinned(ctx, key, groupsRecord{Groups: groups, By: s.who, At: s.now().UTC()})
	if err != nil {
		return fmt.Errorf("pin %d counter groups: %w", groups, err)
	}
	return s.samePin(key, value, groups)
}

// pinned returns the value of a key that the first process writes, once.
func (s *CASStore) pinned(ctx context.Context, key string, first any) ([]byte, error) {
	for {
		value, revision, err := s.kv.Get(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
		if revision != 0 {
			return value, nil
		}
		if _, err := s.kv.CompareAndSwap(ctx, key, 0, encode(first)); err != nil {
			return nil, fmt.Errorf("write %s: %w: it is unknown whether it is pinned; start again", key, err)
		}
	}
}

func (s *CASStore) samePin(key string, value []byte, groups int) error {
	var pin groupsRecord
	if err := decode(value, &pin); err != nil {
		return fmt.Errorf("pin %d counter groups: %s: %w", groups, key, err)
	}
	if pin.Groups != groups {
		return fmt.Errorf("pin %d counter groups: this cluster has %d since %s, and with another number IDs would repeat: configure %d",
			groups, pin.Groups, pin.At.Format("2006-01-02 15:04:05Z"), pin.Groups)
	}
	return nil
}
