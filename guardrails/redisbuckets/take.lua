-- Takes tokens from a bucket that admits at most limit tokens in any window.
--
-- The bucket is a list of marks, oldest first: "first last tokens", the times in
-- microseconds of this Redis's clock. Calls within one grain share a mark, which
-- counts as made at its last call. The same arithmetic is in guardrails/window.go.
--
-- Returns: 1 if the tokens were taken, else 0; how many are used; the time until
-- none is used; the time until a refused call passes. Times are microseconds.
local limit, cost = tonumber(ARGV[1]), tonumber(ARGV[2])
local window, grain = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Lua's own way to write a number would cut these to 14 digits.
local function written(m)
  return string.format('%.0f %.0f %d', m.first, m.last, m.tokens)
end

local marks, used, gone, ahead = {}, 0, 0, false
for _, text in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local first, last, tokens = string.match(text, '^(%d+) (%d+) (%d+)$')
  local m = {first = tonumber(first), last = tonumber(last), tokens = tonumber(tokens)}
  if m.last + window <= now then
    gone = gone + 1
  else
    if m.last > now then -- the clock was set back
      m.first, m.last, ahead = math.min(m.first, now), now, true
    end
    used = used + m.tokens
    marks[#marks + 1] = m
  end
end

if ahead then
  redis.call('DEL', KEYS[1])
  for _, m in ipairs(marks) do redis.call('RPUSH', KEYS[1], written(m)) end
elseif gone > 0 then
  redis.call('LTRIM', KEYS[1], gone, -1)
end

local taken, retry = 0, 0
if used + cost <= limit then
  taken, used = 1, used + cost
  local newest = marks[#marks]
  if newest and now - newest.first < grain then
    newest.last, newest.tokens = now, newest.tokens + cost
    redis.call('LSET', KEYS[1], -1, written(newest))
  else
    marks[#marks + 1] = {first = now, last = now, tokens = cost}
    redis.call('RPUSH', KEYS[1], written(marks[#marks]))
  end
else
  local free = limit - used
  for _, m in ipairs(marks) do
    if free >= cost then break end
    free, retry = free + m.tokens, m.last + window - now
  end
end

local reset = 0
if #marks > 0 then
  reset = marks[#marks].last + window - now
  -- A millisecond more: the time that a key expires at is cut to milliseconds.
  redis.call('PEXPIRE', KEYS[1], math.ceil(reset / 1000) + 1)
end
return {taken, used, reset, retry}
