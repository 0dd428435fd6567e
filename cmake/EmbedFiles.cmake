# Writes OUTPUT, C++ that holds the FILES of FOLDER (names, with commas between) and gives them as attend::FUNCTION(), which
# HEADER declares.
set(types ".html=text/html" ".json=application/json" ".css=text/css" ".js=text/javascript" ".svg=image/svg+xml")
string(REPLACE "," ";" names "${FILES}")
set(text "#include \"${HEADER}\"\n\nnamespace attend {\nnamespace {\n\nconstexpr WebFile kFiles[] = {\n")
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name} content)
  get_filename_component(suffix ${name} LAST_EXT)
  string(REGEX MATCH "\\${suffix}=([^;]+)" found "${types}")
  get_filename_component(base ${name} NAME)
  string(APPEND text "{\"${base}\", \"${CMAKE_MATCH_1}; charset=utf-8\", R\"~file~(${content})~file~\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const WebFile> ${FUNCTION}() { return kFiles; }\n\n}  // namespace attend\n")
file(WRITE ${OUTPUT} "${text}")
