-- wrk's clients: wrk ... -s serve_load.lua URL -- REQUESTS THINK_MS
-- Each line of the file REQUESTS is a path, a tab and a JSON body; clients send them in turn. With THINK_MS above 0 a client waits
-- so long on average (exponentially distributed) before each request, else it sends the next one at once. Prints a JSON object.
local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(arguments)
  local headers = {["Content-Type"] = "application/json", ["Host"] = wrk.host}
  requests, statuses = {}, {}
  for line in io.lines(arguments[1]) do
    local path, body = line:match("^(.-)\t(.*)$")
    table.insert(requests, wrk.format("POST", path, headers, body))
  end
  at = number * 7919
  local think = tonumber(arguments[2])
  if think > 0 then
    math.randomseed(number + 1)
    function delay() return math.floor(-think * math.log(1 - math.random())) end
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function response(status)
  statuses[status] = (statuses[status] or 0) + 1
end

function done(summary, latency)
  local counted = {}
  for _, thread in ipairs(threads) do
    for status, count in pairs(thread:get("statuses")) do counted[status] = (counted[status] or 0) + count end
  end
  local listed = {}
  for status, count in pairs(counted) do table.insert(listed, string.format('"%d": %d', status, count)) end
  local errors = summary.errors
  print(string.format(
    '{"seconds": %.3f, "statuses": {%s}, "broken": %d, "p50_ms": %.2f, "p99_ms": %.2f}', summary.duration / 1e6,
    table.concat(listed, ", "), errors.connect + errors.read + errors.write, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3))
end
