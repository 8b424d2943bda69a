package runner

import "runtime/debug"

// Version is the runner's own version.
const Version = "0.1.0"

// ModuleVersion is the version of a module that the program was built with, as "v2.1.7".
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return "unknown"
}
