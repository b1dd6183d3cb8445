package parse

import "context"

// Work reads a text and returns how many bytes were looked at in all, as the
// budget counts them, whatever of the reading was undone.
func (r *Reader) Work(ctx context.Context, in Input) (total int, reading Reading) {
	s := new(scan)
	r.prepare(s, *in.Text, in.Family, in.FinishReason)
	s.budget.total = &total
	s.ended = ctx.Done()
	s.run()
	s.finish(ctx, &reading)
	return total, reading
}
