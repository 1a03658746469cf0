/** The alert sound: two soft notes made with Web Audio, so no sound file has to be loaded. */

let audio: AudioContext | null = null;

export function chime(): void {
  try {
    audio ??= new AudioContext();
    const start = audio.currentTime;
    for (const [i, hz] of [659, 880].entries()) note(audio, hz, start + i * 0.14);
  } catch {
    // There is no sound device, or the browser blocks audio until the first click. The notification is still
    // shown.
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
