-- Wireshark and tshark read Apache RocketMQ's remoting protocol with this file.
-- Written by `rmqc spec export --format lua`; do not edit. How to use it: docs/dissector.md.
--
-- Its tables come from the specification. Below them stands what reads a packet:
-- values first, then a generic reader of layouts, the two notations of a header,
-- the bodies, and the matching of answers to requests.

local function band(a, b) -- Lua 5.2 and 5.4 have different operators for it
  local sum, bit = 0, 1
  a, b = a % 4294967296, b % 4294967296
  while a > 0 and b > 0 do
    if a % 2 == 1 and b % 2 == 1 then sum = sum + bit end
    a, b, bit = math.floor(a / 2), math.floor(b / 2), bit * 2
  end
  return sum
end

--TABLES--

local proto = Proto("rocketmq", "Apache RocketMQ")
local FRAME_START = 9 -- bytes by which a frame is recognised
local TIMES = { 1e11, 1e14 } -- milliseconds that are shown as a date

-- Fields, each known by what follows "rocketmq." in its name.

local fields = {}

local function declare(kind, name, title, ...)
  if not fields[name] then
    fields[name] = ProtoField[kind]("rocketmq." .. name, title, ...)
  end
end

local function plain(name)
  return (name:gsub("[^%w_.]", "_"))
end

local function is_hex(name)
  return name == "magic"
end

local function declare_integer(name, path, form, says)
  local kind = (form.signed and "int" or "uint") .. form.size * 8
  local names = name == "serialize_type" and serialize_type_names or nil
  names = name == "language" and language_names or names
  local base_of = is_hex(name) and not form.signed and base.HEX or base.DEC
  declare(kind, path, name, base_of, names, nil, says)
end

local function declare_form(name, path, form, says)
  if form.kind == "integer" then
    declare_integer(name, path, form, says)
  elseif form.kind == "counted" then
    declare_form(name .. "_size", path .. "_size", form.count, "bytes of " .. name)
    declare_form(name, path, { kind = "blob" }, says)
  elseif form.kind == "choice" then
    declare_form(name, path, form.yes, says)
    declare_form(name, path, form.no, says)
  elseif form.kind == "row" then
    declare_form(name, path, form.form, says)
  elseif form.kind == "structure" then
    declare("none", path, name, says)
    for _, one in ipairs(form.fields) do
      declare_form(one.name, path .. "." .. one.name, one.form, one.says)
    end
  elseif name == address_field then
    declare("ipv4", path, name, says)
    declare("ipv6", path .. "_v6", name, says)
  elseif text_fields[name] then
    declare("string", path, name, base.UNICODE, says)
  else
    declare("bytes", path, name, base.NONE, says)
  end
end

for name, parts in pairs(layouts) do
  declare_form(name, name, { kind = "structure", fields = parts }, name)
end
declare("int32", "code", "code", base.DEC, nil, nil, "of the request or the response")
declare("string", "code.name", "name of the code", base.UNICODE)
declare("string", "language", "language", base.UNICODE)
declare("int32", "version", "version", base.DEC, version_names)
declare("int32", "opaque", "opaque", base.DEC, nil, nil, "an answer repeats its request's")
declare("int32", "flag", "flag", base.DEC, nil, nil, "bit 0: a response; bit 1: no answer wanted")
declare("bool", "flag.response", "is a response")
declare("bool", "flag.oneway", "wants no answer")
declare("string", "remark", "remark", base.UNICODE)
declare("string", "field", "header field", base.UNICODE, "a field that has no name of its own here")
for _, name in ipairs(header_field_names) do
  declare("string", "field." .. plain(name), name, base.UNICODE, "header field " .. name)
end
declare("string", "property", "property", base.UNICODE, "a property that has no name of its own here")
for _, name in ipairs(property_names) do
  declare("string", "property." .. plain(name), name, base.UNICODE, "property " .. name)
end
declare("string", "system_flag", "system flag", base.UNICODE)
declare("string", "body.json", "JSON body", base.UNICODE)
declare("framenum", "response_in", "answered in frame", base.NONE, frametype.RESPONSE)
declare("framenum", "request_in", "answers frame", base.NONE, frametype.REQUEST)
declare("double", "response_time", "seconds since the request", base.NONE)

do
  local list = {}
  for _, field in pairs(fields) do list[#list + 1] = field end
  proto.fields = list
end
local malformed = ProtoExpert.new("rocketmq.malformed", "These bytes are not what the specification says",
  expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { malformed }

-- The generic reader of layouts. `at` is where reading goes on, `stop` where it must end.

local function truth(value)
  return value ~= 0 and value ~= false and value ~= nil
end

local function need(at, size, stop, path)
  if size < 0 or at + size > stop then
    error({ text = path .. ": " .. size .. " bytes wanted, " .. stop - at .. " are left" }, 0)
  end
end

local function with_time(item, name, value)
  if name:sub(-3) == "_ms" and value > TIMES[1] and value < TIMES[2] then
    local seconds = math.floor(value / 1000)
    item:append_text(os.date("! (%Y-%m-%dT%H:%M:%S", seconds) .. string.format(".%03dZ)", value % 1000))
  end
end

local function with_flags(item, name, value)
  if name ~= "system_flags" then return end
  for bit, title in pairs(system_flag_names) do
    if band(value, bit) == bit and title ~= "TRANSACTION_ROLLBACK" or band(value, 12) == 12 and bit == 12 then
      item:add(fields["system_flag"], title):set_generated()
    end
  end
end

local function read_integer(form, tvb, at, stop, path, name, tree)
  need(at, form.size, stop, path)
  local range = tvb(at, form.size)
  local value
  if form.size > 4 then
    value = (form.signed and range:int64() or range:uint64()):tonumber()
  else
    value = form.signed and range:int() or range:uint()
  end
  if tree then
    local item = tree:add(fields[path], range)
    with_time(item, name, value)
    with_flags(item, name, value)
  end
  return at + form.size, value
end

local function add_blob(tree, path, name, tvb, at, size)
  if not tree then return end
  if text_fields[name] then
    local text = size > 0 and tvb(at, size):string(ENC_UTF_8) or ""
    tree:add(fields[path], size > 0 and tvb(at, size) or tvb(at - 1, 1), text)
  elseif name == address_field and size == 16 then
    tree:add(fields[path .. "_v6"], tvb(at, size))
  elseif size > 0 then
    tree:add(fields[path], tvb(at, size))
  end
end

local read

local function read_structure(parts, tvb, at, stop, outer, path, tree)
  local values = { _ = outer }
  for _, one in ipairs(parts) do
    at, values[one.name] = read(one.form, tvb, at, stop, values, path .. "." .. one.name, one.name, tree)
  end
  return at, values
end

function read(form, tvb, at, stop, values, path, name, tree)
  if form.kind == "integer" then
    return read_integer(form, tvb, at, stop, path, name, tree)
  elseif form.kind == "choice" then
    local chosen = truth(form.when(values)) and form.yes or form.no
    return read(chosen, tvb, at, stop, values, path, name, tree)
  elseif form.kind == "structure" then
    local inner = tree and tree:add(fields[path], tvb(at, stop - at))
    local after, found = read_structure(form.fields, tvb, at, stop, values, path, inner)
    if inner then inner:set_len(after - at) end
    return after, found
  elseif form.kind == "row" then
    local found = {}
    for index = 1, form.count(values) do
      at, found[index] = read(form.form, tvb, at, stop, values, path, name, tree)
    end
    return at, found
  end
  local size
  if form.kind == "counted" then
    at, size = read(form.count, tvb, at, stop, values, path .. "_size", name .. "_size", tree)
  else
    size = form.size and form.size(values) or stop - at
  end
  need(at, size, stop, path)
  add_blob(tree, path, name, tvb, at, size)
  return at + size, { at = at, size = size }
end

local function bytes_of(tvb, blob)
  return blob.size > 0 and tvb(blob.at, blob.size):raw() or ""
end

-- JSON, as much as a header has of it. Every value keeps its place in the text.

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function utf8_of(code)
  if code < 0x80 then return string.char(code) end
  local tail = string.char(0x80 + code % 64)
  code = math.floor(code / 64)
  if code < 0x20 then return string.char(0xC0 + code) .. tail end
  tail = string.char(0x80 + code % 64) .. tail
  code = math.floor(code / 64)
  if code < 0x10 then return string.char(0xE0 + code) .. tail end
  return string.char(0xF0 + math.floor(code / 64), 0x80 + code % 64) .. tail
end

local function json_error(at)
  error({ text = "the header is no JSON at its byte " .. at - 1 }, 0)
end

local function json_escape(text, at)
  local letter = text:sub(at, at)
  if letter ~= "u" then return ESCAPES[letter] or letter, at + 1 end
  local code = tonumber(text:match("^%x%x%x%x", at + 1) or json_error(at), 16)
  at = at + 5
  local low = text:match("^\\u([dD][c-fC-F]%x%x)", at)
  if code >= 0xD800 and code < 0xDC00 and low then
    return utf8_of(0x10000 + (code - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00), at + 6
  end
  return utf8_of(code), at
end

local function json_string(text, at)
  local parts = {}
  at = at + 1
  while true do
    local run, after = text:match('^([^"\\]*)()', at)
    parts[#parts + 1] = run
    local mark = text:sub(after, after)
    if mark == '"' then return table.concat(parts), after + 1 end
    if mark == "" then json_error(after) end
    parts[#parts + 1], at = json_escape(text, after + 1)
  end
end

local json_value

local function json_object(text, at)
  local members = {}
  at = text:match("^%s*()", at + 1)
  while text:sub(at, at) ~= "}" do
    local begin, name = at
    if text:sub(at, at) == '"' then
      name, at = json_string(text, at)
    else
      name, at = text:match("^([^%s:,}]+)()", at)
      if not name then json_error(begin) end
    end
    at = text:match("^%s*:%s*()", at) or json_error(at)
    local value
    value, at = json_value(text, at)
    members[#members + 1] = { name = name, value = value, from = begin, to = at }
    at = text:match("^%s*,?%s*()", at)
    if at > #text then json_error(at) end
  end
  return members, at + 1
end

local function json_row(text, at) -- kept as text: no header field is a row
  local depth, begin = 0, at
  repeat
    local mark = text:sub(at, at)
    if mark == '"' then
      local _, after = json_string(text, at)
      at = after - 1
    end
    depth = depth + (mark == "[" and 1 or mark == "]" and -1 or 0)
    at = at + 1
    if at > #text + 1 then json_error(begin) end
  until depth == 0
  return text:sub(begin, at - 1), at
end

function json_value(text, at)
  local mark = text:sub(at, at)
  if mark == '"' then return json_string(text, at) end
  if mark == "{" then return json_object(text, at) end
  if mark == "[" then return json_row(text, at) end
  local word, after = text:match("^([%w+.-]+)()", at)
  if not word then json_error(at) end
  if word == "null" then return nil, after end
  return word, after
end

-- A command's header, whichever notation it is in: values, and where each stands.

local function json_header(tvb, blob)
  local text = bytes_of(tvb, blob)
  local first = text:match("^%s*()")
  if text:sub(first, first) ~= "{" then json_error(first) end
  local command = { fields = {}, ranges = {} }
  local function range_of(member)
    return tvb(blob.at + member.from - 1, member.to - member.from)
  end
  for _, member in ipairs((json_object(text, first))) do
    if member.name == "extFields" and type(member.value) == "table" then
      for _, one in ipairs(member.value) do
        command.fields[#command.fields + 1] = { name = one.name, value = one.value, range = range_of(one) }
      end
    elseif type(member.value) == "string" then
      command[member.name], command.ranges[member.name] = member.value, range_of(member)
    end
  end
  return command
end

local function binary_header(tvb, blob, tree)
  local stop = blob.at + blob.size
  local tail = tree:add(fields["header_rocketmq"], tvb(blob.at, blob.size))
  local _, found = read_structure(layouts.header_rocketmq, tvb, blob.at, stop, nil, "header_rocketmq", tail)
  local command = { fields = {}, ranges = {} }
  for _, name in ipairs({ "code", "version", "opaque", "flag" }) do command[name] = found[name] end
  command.language = language_names[found.language] or tostring(found.language)
  if found.remark.size > 0 then command.remark = bytes_of(tvb, found.remark) end
  local at = found.fields.at
  while at < found.fields.at + found.fields.size do
    local entry_stop = found.fields.at + found.fields.size
    local after, entry = read_structure(layouts.header_rocketmq_entry, tvb, at, entry_stop, nil, "header_rocketmq_entry", nil)
    command.fields[#command.fields + 1] = {
      name = bytes_of(tvb, entry.name), value = bytes_of(tvb, entry.value), range = tvb(at, after - at),
    }
    at = after
  end
  return command
end

local function header_of(frame, tvb, tree)
  if frame.serialize_type == 0 then return json_header(tvb, frame.header) end
  if frame.serialize_type == 1 then return binary_header(tvb, frame.header, tree) end
  error({ text = "serialize_type: " .. frame.serialize_type .. " is no notation of a header" }, 0)
end

local function add_value(tree, command, name, value)
  local range = command.ranges[name] or command.whole
  return tree:add(fields[name], range, value)
end

local function show_command(tree, command)
  add_value(tree, command, "code", command.code):append_text(" (" .. command.code_name .. ")")
  add_value(tree, command, "code.name", command.code_name):set_generated()
  add_value(tree, command, "opaque", command.opaque)
  local flag = add_value(tree, command, "flag", command.flag)
  flag:add(fields["flag.response"], command.is_response):set_generated()
  flag:add(fields["flag.oneway"], band(command.flag, 2) ~= 0):set_generated()
  if command.language then add_value(tree, command, "language", command.language) end
  if command.version then add_value(tree, command, "version", tonumber(command.version) or 0) end
  if command.remark then add_value(tree, command, "remark", command.remark) end
end

local function show_fields(tree, command)
  local spelt = not command.is_response and with_letters[command.code]
  for _, one in ipairs(command.fields) do
    local name = spelt and letters[one.name] or one.name
    local value = type(one.value) == "string" and one.value or ""
    local field = fields["field." .. plain(name)]
    if field then
      local item = tree:add(field, one.range, value)
      if name ~= one.name then item:append_text(" (" .. one.name .. ")") end
    else
      tree:add(fields["field"], one.range, name .. ": " .. value)
    end
  end
end

-- Bodies.

local function show_properties(tree, tvb, blob)
  local text, at = bytes_of(tvb, blob), blob.at
  while #text > 0 do
    local pair = text:match("^[^\2]*")
    local name, value = pair:match("^([^\1]*)\1(.*)$")
    if name then
      local field = fields["property." .. plain(name)]
      if field then
        tree:add(field, tvb(at, #pair), value)
      else
        tree:add(fields["property"], tvb(at, #pair), name .. ": " .. value)
      end
    end
    at, text = at + #pair + 1, text:sub(#pair + 2)
  end
end

local function show_message(tree, tvb, at, stop, kind)
  need(at, 4, stop, kind .. ".size")
  local size = tvb(at, 4):int()
  need(at, size, stop, kind)
  local item = tree:add(fields[kind], tvb(at, size))
  local after, message = read_structure(layouts[kind], tvb, at, at + size, nil, kind, item)
  if after ~= at + size then
    error({ text = kind .. ".size: " .. size .. ", the fields have " .. after - at }, 0)
  end
  show_properties(item, tvb, message.properties)
  if message.topic then
    item:append_text(": " .. bytes_of(tvb, message.topic) .. " queue " .. message.queue_id
      .. ", queue offset " .. message.queue_offset)
  end
  return after
end

local function begins_with_record(tvb, body) -- where the request was not captured
  if body.size < 8 then return false end
  return tvb(body.at + 4, 3):uint() == record_magic_start and tvb(body.at, 4):int() <= body.size
end

local function kind_of_messages(tvb, body, command, asked)
  if not command.is_response then return messages_in_request[command.code] end
  if asked then return command.code == 0 and messages_in_answer[asked] end
  return begins_with_record(tvb, body) and "message_record"
end

local function show_body(tree, tvb, body, command, asked)
  if body.size == 0 then return end
  local kind = kind_of_messages(tvb, body, command, asked)
  if kind then
    local at, stop = body.at, body.at + body.size
    while at < stop do at = show_message(tree, tvb, at, stop, kind) end
    return
  end
  local text = bytes_of(tvb, body)
  if text:match("^[%[{]") then
    tree:add(fields["body.json"], tvb(body.at, body.size), text)
  end
end

-- An answer has its request's opaque, on the same connection the other way round.

local stream_of = Field.new("tcp.stream")
local waiting, known = {}, {}

function proto.init()
  waiting, known = {}, {}
end

local function matched(pinfo, command)
  local stream = tostring(stream_of() and stream_of().value)
  local host, port = pinfo.src, pinfo.src_port
  if command.is_response then host, port = pinfo.dst, pinfo.dst_port end
  local key = table.concat({ stream, tostring(host), port, command.opaque }, " ")
  local here = pinfo.number .. " " .. tostring(command.is_response) .. " " .. key
  if known[here] then return known[here] end
  if not command.is_response then
    local exchange = { request = pinfo.number, code = command.code, time = pinfo.abs_ts }
    waiting[key], known[here] = exchange, exchange
    return exchange
  end
  local exchange = waiting[key]
  if exchange and not pinfo.visited then
    exchange.response, exchange.taken = pinfo.number, pinfo.abs_ts - exchange.time
    waiting[key], known[here] = nil, exchange
  end
  return exchange
end

local function show_match(tree, command, exchange)
  if not exchange then return end
  if command.is_response then
    tree:add(fields["request_in"], exchange.request):set_generated()
    tree:add(fields["response_time"], exchange.taken):set_generated()
  elseif exchange.response then
    tree:add(fields["response_in"], exchange.response):set_generated()
  end
end

local function said(command, exchange)
  if not command.is_response then
    return command.code_name .. (band(command.flag, 2) ~= 0 and " oneway" or "") .. ", opaque " .. command.opaque
  end
  local to = exchange and " to " .. (request_names[exchange.code] or exchange.code) or ""
  return command.code_name .. to .. ", opaque " .. command.opaque
end

local function read_command(frame, tvb, tree)
  local command = header_of(frame, tvb, tree)
  command.whole = tvb(frame.header.at, frame.header.size)
  for _, name in ipairs({ "code", "opaque", "flag" }) do
    command[name] = math.floor(tonumber(command[name] or 0) or 0)
  end
  command.is_response = band(command.flag, 1) ~= 0
  local names = command.is_response and response_names or request_names
  command.code_name = names[command.code] or tostring(command.code)
  return command
end

local function dissect_frame(tvb, pinfo, tree)
  local item = tree:add(proto, tvb(0))
  local ok, failure = pcall(function()
    local _, frame = read_structure(layouts.frame, tvb, 0, tvb:len(), nil, "frame", item)
    local command = read_command(frame, tvb, item)
    local exchange = matched(pinfo, command)
    pinfo.cols.info:append("[" .. said(command, exchange) .. "] ")
    item:append_text(", " .. said(command, exchange))
    show_command(item, command)
    show_match(item, command, exchange)
    show_fields(item, command)
    show_body(item, tvb, frame.body, command, exchange and exchange.code)
  end)
  if not ok then
    item:add_proto_expert_info(malformed, type(failure) == "table" and failure.text or tostring(failure))
  end
  return tvb:len()
end

-- Frames in the stream of a connection, however TCP cut it.

local function size_of_frame(tvb, _, at)
  local size = tvb(at, 4):int()
  if size < 4 or size + 4 > frame_size_max then
    return tvb:len() - at -- no frame; what there is is shown as one that is wrong
  end
  return size + 4
end

function proto.dissector(tvb, pinfo, tree)
  pinfo.cols.protocol = "RocketMQ"
  pinfo.cols.info = ""
  dissect_tcp_pdus(tvb, tree, 4, size_of_frame, dissect_frame)
  return tvb:len()
end

local function is_frame(tvb, pinfo, tree)
  if tvb:len() < FRAME_START then return false end
  local size, kind, header = tvb(0, 4):int(), tvb(4, 1):uint(), tvb(5, 3):uint()
  local is_sound = size >= 4 and size + 4 <= frame_size_max and header > 0 and header + 4 <= size
  if not is_sound or kind > 1 or kind == 0 and tvb(8, 1):uint() ~= 0x7B then return false end
  proto.dissector(tvb, pinfo, tree)
  pinfo.conversation = proto
  return true
end

DissectorTable.get("tcp.port"):add("9876,10909,10911", proto)
proto:register_heuristic("tcp", is_frame)
