//! Two soft notes, made on the spot: no file to load, nothing to license.

let audio: AudioContext | null = null;

export function chime(): void {
  try {
    audio ??= new AudioContext();
    const start = audio.currentTime;
    for (const [i, hz] of [659, 880].entries()) note(audio, hz, start + i * 0.14);
  } catch {
    // No sound device, or the page was never touched: the note on screen has to do.
  }
}

function note(context: AudioContext, hz: number, at: number): void {
  const tone = context.createOscillator();
  const volume = context.createGain();
  tone.frequency.value = hz;
  volume.gain.setValueAtTime(0, at);
  volume.gain.linearRampToValueAtTime(0.12, at + 0.015);
  volume.gain.exponentialRampToValueAtTime(0.001, at + 0.35);
  tone.connect(volume).connect(context.destination);
  tone.start(at);
  tone.stop(at + 0.4);
}
