package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// atMostOnce stops the cluster's client from repeating a command that a node may have executed. The client decides by the type
// of the error whether it tries again, so a lost answer is converted to a type that the client doesn't know. Errors that Redis
// answered remain as they are: MOVED, ASK, CLUSTERDOWN, LOADING, READONLY and TRYAGAIN mean that nothing was executed.
type atMostOnce struct{}

// lost is the error about a missing answer. It hides the cause from errors.Is and errors.As until found extracts it.
type lost struct{ why error }

func (l *lost) Error() string { return "no answer: " + l.why.Error() }

func hide(err error) error {
	var answered redis.Error
	if err == nil || errors.As(err, &answered) || errors.As(err, new(*lost)) {
		return err
	}
	return &lost{err}
}

// found returns the hidden error.
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

// ProcessPipelineHook implements redis.Hook. After ASK the command is sent behind ASKING.
func (atMostOnce) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return hide(next(ctx, cmds)) }
}
