package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// atMostOnce keeps the cluster's client from sending a command again that a node
// may have run. The client retries by what kind of error it sees: a lost answer is
// made one that it does not know. Errors that Redis answered stay what they are:
// MOVED, ASK, CLUSTERDOWN, LOADING, READONLY and TRYAGAIN say that nothing was run.
type atMostOnce struct{}

// lost is the error of an answer that did not come. It hides the error from
// errors.Is and errors.As until found takes it out.
type lost struct{ why error }

func (l *lost) Error() string { return "no answer: " + l.why.Error() }

func hide(err error) error {
	var answered redis.Error
	if err == nil || errors.As(err, &answered) || errors.As(err, new(*lost)) {
		return err
	}
	return &lost{err}
}

// found is the error that was hidden.
func found(err error) error {
	var l *lost
	if errors.As(err, &l) {
		return l.why
	}
	return err
}

// DialHook implements redis.Hook.
func (atMostOnce) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (atMostOnce) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return hide(next(ctx, cmd)) }
}

// ProcessPipelineHook implements redis.Hook: after ASK the command is sent behind
// ASKING.
func (atMostOnce) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return hide(next(ctx, cmds)) }
}
