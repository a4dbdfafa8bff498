package zk

import "strings"

// rooted is a caller's paths below the folder that the client is confined to.
type rooted string

// full is the store's path of a caller's.
func (r rooted) full(path string) string {
	switch {
	case r == "" || path == "":
		return path
	case path == "/":
		return string(r)
	default:
		return string(r) + path
	}
}

// own is the caller's path of a store's.
func (r rooted) own(path string) string {
	path = strings.TrimPrefix(path, string(r))
	if path == "" {
		return "/"
	}
	return path
}

// split cuts a path into its folder, "/" for one at the top, and its name.
func split(path string) (dir, name string) {
	at := strings.LastIndexByte(path, '/')
	if at <= 0 {
		return "/", path[at+1:]
	}
	return path[:at], path[at+1:]
}

// join puts a name into a folder.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
