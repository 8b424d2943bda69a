package runner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"dyno/runners/go/internal/protocol"
)

// ReadJob reads one job: to the end of the input, or to the end of the first line where turns or orders follow.
func ReadJob(input *bufio.Reader) (*protocol.Job, error) {
	text, err := input.ReadBytes('\n')
	var first protocol.Job
	if err == nil && (json.Unmarshal(text, &first) != nil || !first.Turns && !first.HasParts()) {
		var rest []byte
		rest, err = io.ReadAll(input)
		text = append(text, rest...)
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("cannot read the job from standard input: %w", err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("standard input is empty where a job is expected: a runner is started by dyno, not by hand")
	}
	// The version is the one thing that all versions of the contract have in common.
	var version struct{ Protocol *int }
	if err := parse(text, &version); err != nil {
		return nil, err
	}
	if version.Protocol == nil {
		return nil, unreadable("it names no version of the protocol")
	}
	if *version.Protocol != protocol.Version {
		return nil, fmt.Errorf("the job is in version %d of the contract and this runner speaks version %d: build both "+
			"from the same source", *version.Protocol, protocol.Version)
	}
	job := &protocol.Job{}
	if err := parse(text, job); err != nil {
		return nil, err
	}
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"engine", job.Engine == ""}, {"driver", job.Driver == ""}, {"build", job.Build.Kind == ""},
		{"settings", job.Settings == nil}, {"directory", job.Directory == ""}, {"tests", job.Tests == nil},
	} {
		if field.missing {
			return nil, unreadable(fmt.Sprintf("missing field `%s`", field.name))
		}
	}
	return job, nil
}

// parse says of a text that is no job only what is wrong and where: it may hold a password.
func parse(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && strings.Contains(err.Error(), "unexpected end"):
		return unreadable("it ends too early")
	case errors.As(err, &syntax):
		return unreadable("not JSON at " + place(text, syntax.Offset))
	case errors.As(err, &kind):
		return unreadable("a value of another kind at " + place(text, kind.Offset))
	default:
		return unreadable("a value of another kind")
	}
}

func unreadable(what string) error {
	return fmt.Errorf("the job on standard input cannot be read: %s", what)
}

func place(text []byte, offset int64) string {
	before := text[:min(int(offset), len(text))]
	return fmt.Sprintf("line %d column %d", bytes.Count(before, []byte{'\n'})+1, len(before)-bytes.LastIndexByte(before, '\n')-1)
}

// ServerOf is the server of a job whose engine has one.
func ServerOf(job *protocol.Job) (*protocol.Server, error) {
	if job.Server == nil {
		return nil, fmt.Errorf("the job says no server, and %s is reached through one: this is an error in dyno", job.Engine)
	}
	return job.Server, nil
}

// VariantOf is the job's way of working, one of those given; the first where the job names none.
func VariantOf(job *protocol.Job, variants ...string) (string, error) {
	if job.Variant == "" {
		return variants[0], nil
	}
	for _, known := range variants {
		if job.Variant == known {
			return known, nil
		}
	}
	return "", fmt.Errorf("%s/%s has no variant '%s': it has %s", job.Engine, job.Driver, job.Variant,
		strings.Join(variants, ", "))
}

// NoVariants refuses a way of working, for drivers that have one only.
func NoVariants(job *protocol.Job) error {
	if job.Variant != "" {
		return fmt.Errorf("%s/%s has no variant '%s': it has none", job.Engine, job.Driver, job.Variant)
	}
	return nil
}
