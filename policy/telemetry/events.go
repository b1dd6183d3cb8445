package telemetry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"toolgym/internal/atomicfile"
)

// events writes TensorBoard's event files: tensorflow.Event messages
// (tensorflow/core/util/event.proto), framed as records (core/lib/io/record_writer.h).
type events struct {
	file   *atomicfile.Appender
	now    func() time.Time
	record []byte
}

// Field numbers.
const (
	eventWallTime    = 1
	eventStep        = 2
	eventFileVersion = 3
	eventSummary     = 5
	eventSessionLog  = 7
	summaryValue     = 1
	valueTag         = 1
	valueSimple      = 2
	sessionStatus    = 1
	sessionStart     = 1 // the value of the status
)

// openEvents creates a file for each session of a run; TensorBoard reads them in the
// order of their names. Events of earlier sessions after the update are dropped:
// files that begin there are removed, and the start of a session at the next update
// makes TensorBoard discard what it has read of that one and later ones.
func openEvents(dir string, update int, now func() time.Time) (*events, error) {
	path := filepath.Join(dir, eventsName(update))
	if err := removeLater(path); err != nil {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("opening the event file: %w", err)
	}
	appender, err := atomicfile.NewAppender(file)
	if err != nil {
		return nil, fmt.Errorf("opening the event file: %w", errors.Join(err, file.Close()))
	}
	e := &events{file: appender, now: now}
	version := protowire.AppendTag(nil, eventFileVersion, protowire.BytesType)
	version = protowire.AppendString(version, "brain.Event:2")
	status := protowire.AppendTag(nil, sessionStatus, protowire.VarintType)
	status = protowire.AppendVarint(status, sessionStart)
	start := protowire.AppendTag(nil, eventSessionLog, protowire.BytesType)
	start = protowire.AppendBytes(start, status)
	if err := errors.Join(e.append(update, version), e.append(update+1, start)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return e, nil
}

// eventsName returns the file of the session that begins after an update. The fixed
// width makes the order of names that of updates.
func eventsName(update int) string {
	return fmt.Sprintf("events.out.tfevents.%010d.toolgym", update)
}

// removeLater removes the files of sessions that began after that of a path.
func removeLater(path string) error {
	dir, own := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for event files: %w", err)
	}
	for _, e := range entries {
		if ours, _ := filepath.Match("events.out.tfevents.*.toolgym", e.Name()); ours && e.Name() > own {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("removing events of repeated updates: %w", err)
			}
		}
	}
	return nil
}

// write writes the numbers of a record as scalars.
func (e *events) write(r Record) error {
	var summary []byte
	for _, f := range r.scalars() {
		value := protowire.AppendTag(nil, valueTag, protowire.BytesType)
		value = protowire.AppendString(value, f.name)
		value = protowire.AppendTag(value, valueSimple, protowire.Fixed32Type)
		value = protowire.AppendFixed32(value, math.Float32bits(float32(f.value)))
		summary = protowire.AppendTag(summary, summaryValue, protowire.BytesType)
		summary = protowire.AppendBytes(summary, value)
	}
	body := protowire.AppendTag(nil, eventSummary, protowire.BytesType)
	return e.append(r.Update, protowire.AppendBytes(body, summary))
}

// append writes one event with its time and step.
func (e *events) append(step int, body []byte) error {
	now := e.now()
	seconds := float64(now.Unix()) + float64(now.Nanosecond())/1e9
	event := protowire.AppendTag(nil, eventWallTime, protowire.Fixed64Type)
	event = protowire.AppendFixed64(event, math.Float64bits(seconds))
	event = protowire.AppendTag(event, eventStep, protowire.VarintType)
	event = protowire.AppendVarint(event, uint64(step))
	e.record = frame(e.record[:0], append(event, body...))
	_, err := e.file.Write(e.record)
	return err
}

// frame appends a record: the length of the message, its checksum, the message, and
// its checksum.
func frame(buf, message []byte) []byte {
	buf = binary.LittleEndian.AppendUint64(buf, uint64(len(message)))
	buf = binary.LittleEndian.AppendUint32(buf, masked(buf))
	buf = append(buf, message...)
	return binary.LittleEndian.AppendUint32(buf, masked(message))
}

// masked returns the checksum of the format: CRC-32C, rotated and offset.
func masked(content []byte) uint32 {
	sum := crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
	return (sum>>15 | sum<<17) + 0xa282ead8
}
