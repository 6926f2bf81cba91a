package pool

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"locus/idgen/segment"
)

// Scripts runs Lua scripts in one Redis server, or in the cluster node that has the keys, which all have one hash tag.
// It is safe for concurrent use.
type Scripts interface {
	// Eval runs a script at most once and returns its answer, a list of strings. After an error the outcome is unknown:
	// the script may have run, or may still run.
	Eval(ctx context.Context, script string, keys []string, args ...string) ([]string, error)
}

// maxNumber is the largest integer that Lua represents exactly.
const maxNumber = 1<<53 - 1

// identity is the server's process and role. Both IDs change when a server restarts, and the second also when a replica
// is promoted. They have 40 digits. They are found without a pattern, which would be the slowest part of a script.
const identity = `
local function id(section, name)
  local said = redis.call('INFO', section)
  local _, before = string.find(said, name, 1, true)
  return string.sub(said, before + 1, before + 40)
end
local function identity() return id('server', 'run_id:') .. '.' .. id('replication', 'master_replid:') end
local function text(n) return string.format('%.0f', n) end
`

// takeScript is state.take. KEYS: the pool, the filler. ARGV: n, floor, the number of remaining numbers at which a
// caller is asked to fill.
const takeScript = identity + takeFunction + `
return take(tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
`

// keyScript takes from one of several keys, which are extended from the pool. KEYS: the pool, the filler, the key.
// ARGV: as for takeScript, then how many numbers a key takes at once.
const keyScript = identity + takeFunction + `
local k = redis.call('HMGET', KEYS[3], 'run', 'next', 'last')
local n, span = tonumber(ARGV[1]), tonumber(ARGV[4])
if k[1] and k[1] == identity() and tonumber(k[2]) + n - 1 <= tonumber(k[3]) then
  redis.call('HINCRBY', KEYS[3], 'next', n)
  return {'ok', k[2], '0', '0'}
end
local t = take(math.max(n, span), 0, tonumber(ARGV[3]))
if t[1] == 'ok' then
  local first = tonumber(t[2])
  redis.call('HSET', KEYS[3], 'run', identity(), 'next', text(first + n), 'last', text(first + math.max(n, span) - 1))
end
return t
`

const takeFunction = `
local function take(n, floor, low)
local s = redis.call('HMGET', KEYS[1], 'run', 'next', 'last', 'reserve_first', 'reserve_last', 'version')
if not s[1] or s[1] ~= identity() then return {'void'} end
local next, last = tonumber(s[2]), tonumber(s[3])
local rfirst, rlast, version = tonumber(s[4]), tonumber(s[5]), tonumber(s[6])
local moved = false -- on to the reserve
while true do
  local first = math.max(next, floor + 1)
  if first + n - 1 <= last then
    if moved then
      redis.call('HSET', KEYS[1], 'next', text(first + n), 'last', text(last),
        'reserve_first', text(rfirst), 'reserve_last', text(rlast), 'version', text(version))
    else
      redis.call('HSET', KEYS[1], 'next', text(first + n))
    end
    local left = last + 1 - first - n
    if rfirst > 0 then left = left + rlast + 1 - rfirst end
    local fill = '0'
    if left < low and redis.call('SET', KEYS[2], '1', 'NX', 'PX', '1000') then fill = '1' end
    return {'ok', text(first), text(left), fill}
  end
  if rfirst == 0 then return {'empty'} end
  next, last, rfirst, rlast, version, moved = rfirst, rlast, 0, 0, version + 1, true
end
end
`

// restScript is state.rest. KEYS: the pool, the filler. ARGV: floor, the number of remaining numbers at which the caller is
// asked to fill, which it also is if there is no pool.
const restScript = identity + `
local s = redis.call('HMGET', KEYS[1], 'run', 'next', 'last', 'reserve_first', 'reserve_last')
local floor, left, answer = tonumber(ARGV[1]), 0, 'void'
if s[1] and s[1] == identity() then
  answer = 'rest'
  left = math.max(0, tonumber(s[3]) + 1 - math.max(tonumber(s[2]), floor + 1))
  if tonumber(s[4]) > 0 then left = left + math.max(0, tonumber(s[5]) + 1 - math.max(tonumber(s[4]), floor + 1)) end
end
local fill = '0'
if left < tonumber(ARGV[2]) and redis.call('SET', KEYS[2], '1', 'NX', 'PX', '1000') then fill = '1' end
return {answer, text(left), fill}
`

// fillScript is state.fill. KEYS: the pool, the filler. ARGV: first, last, floor.
const fillScript = identity + `
local s = redis.call('HMGET', KEYS[1], 'run', 'high', 'reserve_first', 'version', 'reserve_last')
local first, last, floor = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('DEL', KEYS[2])
if first <= tonumber(s[2] or '0') then return {'stale', s[2]} end
local run = identity()
if not s[1] or s[1] ~= run then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'run', run, 'next', text(first), 'last', text(last), 'high', text(last),
    'reserve_first', '0', 'reserve_last', '0', 'version', text(tonumber(s[4] or '0') + 1))
  return {'filled'}
end
if tonumber(s[3]) > 0 and tonumber(s[5]) > floor then return {'full'} end
redis.call('HSET', KEYS[1], 'reserve_first', text(first), 'reserve_last', text(last), 'high', text(last))
return {'reserved'}
`

func (p *Pool) keys(counter string) []string {
	key := p.options.Prefix + "{" + counter + p.options.Part + "}" // the braces put all keys into one slot of a Redis Cluster
	return []string{key, key + ":filling"}
}

func (p *Pool) take(ctx context.Context, counter string, r *request) (taken, error) {
	script, keys, args := takeScript, p.keys(counter), []string{number(r.n), number(r.floor), number(r.size)}
	if p.options.Keys > 0 {
		at := uint64(r.key - 1)
		if r.key == 0 {
			at = p.turn.Add(1)
		}
		key := fmt.Sprintf("%s:key:%d", keys[0], at%uint64(p.options.Keys))
		script, keys, args = keyScript, append(keys, key), append(args, number(p.options.Span))
	}
	answer, err := p.redis.Eval(ctx, script, keys, args...)
	if err != nil {
		return taken{}, errors.Join(errRedis, err)
	}
	if len(answer) == 1 && (outcome(answer[0]) == empty || outcome(answer[0]) == void) {
		return taken{outcome: outcome(answer[0])}, nil
	}
	if len(answer) != 4 || outcome(answer[0]) != took {
		return taken{}, fmt.Errorf("%w: nonsense: %q", errRedis, answer)
	}
	first, err := strconv.ParseUint(answer[1], 10, 64)
	left, leftErr := strconv.ParseUint(answer[2], 10, 64)
	if err := errors.Join(err, leftErr); err != nil || first <= r.floor {
		return taken{}, fmt.Errorf("%w: nonsense: %q: %w", errRedis, answer, err)
	}
	return taken{outcome: took, first: first, left: left, fill: answer[3] == "1"}, nil
}

// rest returns how many numbers above floor the pool has, and whether this process must fill it.
func (p *Pool) rest(ctx context.Context, counter string, floor, low uint64) (taken, error) {
	answer, err := p.redis.Eval(ctx, restScript, p.keys(counter), number(floor), number(low))
	if err != nil {
		return taken{}, errors.Join(errRedis, err)
	}
	if len(answer) == 3 && (outcome(answer[0]) == rest || outcome(answer[0]) == void) {
		if left, err := strconv.ParseUint(answer[1], 10, 64); err == nil {
			return taken{outcome: outcome(answer[0]), left: left, fill: answer[2] == "1"}, nil
		}
	}
	return taken{}, fmt.Errorf("%w: nonsense: %q", errRedis, answer)
}

func (p *Pool) fill(ctx context.Context, counter string, g segment.Grant, floor uint64) (taken, error) {
	answer, err := p.redis.Eval(ctx, fillScript, p.keys(counter), number(g.First), number(g.Last), number(floor))
	if err != nil {
		return taken{}, errors.Join(errRedis, err)
	}
	if len(answer) == 1 {
		if o := outcome(answer[0]); o == filled || o == reserved || o == full {
			return taken{outcome: o}, nil
		}
	}
	if len(answer) == 2 && outcome(answer[0]) == stale {
		if high, err := strconv.ParseUint(answer[1], 10, 64); err == nil && high >= g.First {
			return taken{outcome: stale, high: high}, nil
		}
	}
	return taken{}, fmt.Errorf("%w: nonsense: %q", errRedis, answer)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
